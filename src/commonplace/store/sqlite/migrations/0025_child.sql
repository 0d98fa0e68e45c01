-- Types of relations are nouns ("Ori is a child of Dana"). Assertions keep their word: whoever reads
-- them knows both.

UPDATE edges SET type = 'child' WHERE type = 'child-of';
UPDATE edges SET type = 'grandchild' WHERE type = 'grandchild-of';
